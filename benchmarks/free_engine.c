/* An engine that costs nothing: it answers every `go` with the next move of a given line, over UCI or UCCI.

   free_engine FILE [INFO [MS]]: FILE holds the moves of one long game, one after another, which both sides follow; INFO
   `info` lines come before each move. The k-th move is asked for when k moves stand in the last `position` line. With
   MS it sleeps so many milliseconds before each move, counted from the arrival of `go`, and the nodes of its last
   `info` line are the microseconds that the move took by its own clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char line[1 << 16];
static char moves[1024][8];

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words) {
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    int infos = count > 2 ? atoi(words[2]) : 1, known = 0, played = 0;
    long long think_ns = count > 3 ? atoll(words[3]) * 1000000 : 0;
    if (!file) return 2;
    while (known < 1024 && fscanf(file, "%7s", moves[known]) == 1) known++;
    while (fgets(line, sizeof line, stdin)) {
        long long began_ns = think_ns ? now_ns() : 0;
        if (!strncmp(line, "position", 8)) {
            char *text = strstr(line, " moves ");
            for (played = 0; text && (text = strchr(text + 1, ' ')); played++) {}
            if (played) played--; /* the word itself */
            if (strstr(line, " moves ")) played++;
        } else if (!strncmp(line, "go", 2)) {
            if (think_ns) {
                long long rest_ns = began_ns + think_ns - now_ns();
                struct timespec rest = {rest_ns / 1000000000, rest_ns % 1000000000};
                if (rest_ns > 0) nanosleep(&rest, NULL);
            }
            for (int depth = 1; depth <= infos; depth++) {
                long long nodes = think_ns ? (now_ns() - began_ns) / 1000 : depth;
                printf("info depth %d score cp 0 nodes %lld nps 1000000 pv %s\n", depth, nodes, moves[played % known]);
            }
            printf("bestmove %s\n", moves[played % known]);
        } else if (!strncmp(line, "ucinewgame", 10)) {
        } else if (!strncmp(line, "uci", 3)) {
            puts("id name free\noption name ranks type spin default 0 min 0 max 1\nuciok");
        } else if (!strncmp(line, "isready", 7)) {
            puts("readyok");
        } else if (!strncmp(line, "quit", 4)) {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}

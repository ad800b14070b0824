/* An engine that sleeps: it answers every `go` after a fixed time with the next move of a given line, over UCI.

   sleeping_engine FILE MILLISECONDS: FILE holds the moves of one game, which both sides follow. The nodes of its one
   `info` line are the microseconds from the arrival of `go` to just before the answer is written, by its own clock. */
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
    FILE *file = count > 2 ? fopen(words[1], "r") : NULL;
    long long think_ns = count > 2 ? atoll(words[2]) * 1000000 : 0;
    int known = 0, played = 0;
    if (!file) return 2;
    while (known < 1024 && fscanf(file, "%7s", moves[known]) == 1) known++;
    while (fgets(line, sizeof line, stdin)) {
        long long began_ns = now_ns();
        if (!strncmp(line, "position", 8)) {
            char *text = strstr(line, " moves");
            for (played = 0; text && (text = strchr(text + 1, ' ')); played++) {}
        } else if (!strncmp(line, "go", 2)) {
            struct timespec rest = {(began_ns + think_ns - now_ns()) / 1000000000,
                                    (began_ns + think_ns - now_ns()) % 1000000000};
            nanosleep(&rest, NULL);
            const char *move = moves[played % known];
            printf("info depth 1 score cp 0 nodes %lld pv %s\nbestmove %s\n", (now_ns() - began_ns) / 1000, move, move);
        } else if (!strncmp(line, "ucinewgame", 10)) {
        } else if (!strncmp(line, "uci", 3)) {
            puts("id name sleeping\noption name ranks type spin default 0 min 0 max 1\nuciok");
        } else if (!strncmp(line, "isready", 7)) {
            puts("readyok");
        } else if (!strncmp(line, "quit", 4)) {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}

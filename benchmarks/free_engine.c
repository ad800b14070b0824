/* An engine that costs nothing: it answers every `go` with the next move of a given line, over UCI or UCCI.

   free_engine FILE [INFO]: FILE holds the moves of one long game, one after another, which both sides follow; INFO
   `info` lines come before each move. The k-th move is asked for when k moves stand in the last `position` line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 16];
static char moves[1024][8];

int main(int count, char **words) {
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    int infos = count > 2 ? atoi(words[2]) : 1, known = 0, played = 0;
    if (!file) return 2;
    while (known < 1024 && fscanf(file, "%7s", moves[known]) == 1) known++;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "position", 8)) {
            char *text = strstr(line, " moves ");
            for (played = 0; text && (text = strchr(text + 1, ' ')); played++) {}
            if (played) played--; /* the word itself */
            if (strstr(line, " moves ")) played++;
        } else if (!strncmp(line, "go", 2)) {
            for (int depth = 1; depth <= infos; depth++)
                printf("info depth %d score cp 0 nodes %d nps 1000000 pv %s\n", depth, depth, moves[played % known]);
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

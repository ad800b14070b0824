"""elolab: tournaments, tuning and ablation of game engines."""

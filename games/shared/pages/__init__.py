"""Pages of shared tables: views, fragments, calls, chips, scoreboard, panels, lobby card."""

"""Pages of Chemin de Fer tables: views, fragments, messages, floor and lobby cards, history details."""

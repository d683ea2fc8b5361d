"""Template tag for fragments of tables: ``{% load fragments %}{% fragment "cards.html#stage" round=game.round %}``."""

from django import template

from games.tables.fragments import render_fragment

register = template.Library()
register.simple_tag(render_fragment, name="fragment")

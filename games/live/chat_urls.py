"""Addresses of the chat, below that of a shared table for one kind of money."""

from django.urls import path

from games.live import chat_views

urlpatterns = [
    path("", chat_views.live_chat, name="live_chat"),
    path("say/", chat_views.live_chat_say, name="live_chat_say"),
    path("name/", chat_views.live_chat_name, name="live_chat_name"),
    path("unblock/", chat_views.live_chat_unblock, name="live_chat_unblock"),
    path("<int:number>/", chat_views.live_chat_message, name="live_chat_message"),
    path("<int:number>/report/", chat_views.live_chat_report, name="live_chat_report"),
    path("<int:number>/block/", chat_views.live_chat_block, name="live_chat_block"),
]

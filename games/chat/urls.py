"""URLs of the chat, below those of a shared table for one kind of money."""

from django.urls import path

from games.chat import views

urlpatterns = [
    path("", views.live_chat, name="live_chat"),
    path("say/", views.live_chat_say, name="live_chat_say"),
    path("name/", views.live_chat_name, name="live_chat_name"),
    path("unblock/", views.live_chat_unblock, name="live_chat_unblock"),
    path("<int:number>/", views.live_chat_message, name="live_chat_message"),
    path("<int:number>/report/", views.live_chat_report, name="live_chat_report"),
    path("<int:number>/block/", views.live_chat_block, name="live_chat_block"),
]

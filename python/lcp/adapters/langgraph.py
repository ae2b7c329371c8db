"""LangGraph: ``pip install llm-context-pack[langchain]``.

``RecordingSaver`` is a checkpointer that also records the messages of each thread as a session.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from os import PathLike
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from .._errors import SessionError
from .._session import Session
from .langchain import to_openai


class RecordingSaver(BaseCheckpointSaver[Any]):
    """A checkpointer that also records the messages of each thread as a session of the same name.

    The checkpoints are in ``saver``, another checkpointer. ``store`` and ``model`` are those of
    ``lcp.Session``. A thread whose messages were changed is recorded up to the change, with a
    warning.
    """

    def __init__(
        self,
        saver: BaseCheckpointSaver[Any],
        *,
        store: str | PathLike[str] | None = None,
        model: str | None = None,
    ) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver
        self._store = store
        self._model = model

    def session(self, thread_id: str) -> Session:
        """Return the session of a thread."""
        return Session(thread_id, store=self._store, model=self._model)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and record its new messages."""
        stored = self.saver.put(config, checkpoint, metadata, new_versions)
        self._record(config, checkpoint)
        return stored

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Do the same as ``put`` without blocking the event loop."""
        stored = await self.saver.aput(config, checkpoint, metadata, new_versions)
        await asyncio.to_thread(self._record, config, checkpoint)
        return stored

    def _record(self, config: RunnableConfig, checkpoint: Checkpoint) -> None:
        place = config.get("configurable", {})
        messages = checkpoint["channel_values"].get("messages")
        # Subgraphs have namespaces, and messages of their own.
        if not messages or place.get("checkpoint_ns"):
            return
        thread = str(place["thread_id"])
        try:
            self.session(thread).record(to_openai(messages))
        except SessionError as error:
            if error.code != "differs":
                raise
            warnings.warn(f"thread {thread!r} is not recorded further: {error}", stacklevel=2)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint."""
        return self.saver.get_tuple(config)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint."""
        return await self.saver.aget_tuple(config)

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        """Return checkpoints."""
        return self.saver.list(config, **options)

    async def alist(
        self, config: RunnableConfig | None, **options: Any
    ) -> AsyncIterator[CheckpointTuple]:
        """Return checkpoints."""
        async for checkpoint in self.saver.alist(config, **options):
            yield checkpoint

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task."""
        self.saver.put_writes(config, writes, task_id, task_path)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task."""
        await self.saver.aput_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a thread. Its session remains."""
        self.saver.delete_thread(thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a thread. Its session remains."""
        await self.saver.adelete_thread(thread_id)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the version after another one."""
        return self.saver.get_next_version(current, channel)

"""Adapters to frameworks for agents.

There is one module for each framework, and only this module imports the framework: ``langchain``,
``langgraph``, ``pydantic_ai``, ``openai_agents`` and ``llama_index``.
"""

"""A system's and a user's words as a model is told them: by its chat template, or as one text where it has none."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jinja2 import TemplateError

from ..cache.token_cache import CachedModel
from ..models.interface import Model
from ..tokens.continuations import get_prompt_encoder

TEMPLATE_DATE = "26 Jul 2024"  # that of Llama 3's template where it is told none: the same prompt on every day
THINKING_OPTIONS = {"enable_thinking": False, "thinking": False}


@dataclass(frozen=True)
class ChatFormat:
    """How a model is spoken to. `metadata` are for the sidecar: whether it has turns, and what its template does not allow.

    `space` stands between system and user where they are one text.
    """

    model: Model
    has_turns: bool
    metadata: dict[str, object] = field(default_factory=dict)

    @cached_property
    def _tokenizer(self) -> Any:
        return get_prompt_encoder(self.model).tokenizer

    @cached_property
    def special_token_pattern(self) -> "re.Pattern[str]":
        """What a text may not hold: tokens by which a template tells who speaks."""
        added = [token.content for token in self._tokenizer.added_tokens_decoder.values() if _is_reserved_token(token)]
        names = {*added, *self._tokenizer.all_special_tokens}
        return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)")

    def check_text(self, text: str) -> None:
        """Raise `ValueError` where a text holds a special token, which in a template would end its writer's turn."""
        if self.has_turns and (found := self.special_token_pattern.search(text)):
            raise ValueError(
                f"the text holds {found[0]!r}, a special token of {self.model.name}; expected a text without: reword it, or do "
                "without the chat template (--no-chat)"
            )

    def render_prompt(self, system: str, user: str, *, space: str = " ", answer_lead: str = "") -> str:
        """Return the prompt up to where the answer begins; `answer_lead` follows it where a model has no turns."""
        whole = f"{system}{space}{user}" if system else user
        if not self.has_turns:
            return whole + answer_lead
        if system and self._has_system_role:
            return self._render([{"role": "system", "content": system}, {"role": "user", "content": user}])
        return self._render([{"role": "user", "content": whole}])

    def render_conversation(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the prompt of several turns, up to where the model speaks next."""
        return self._render([dict(message) for message in messages])

    def find_label_space(self, label: str) -> str:
        """Return the space, if any, that the template writes between the end of a prompt and an answer such as `label`."""
        if not self.has_turns:
            return ""
        user = [{"role": "user", "content": "A user."}]
        try:
            before = self._render(user)
            after = self._render([*user, {"role": "assistant", "content": label}], answered=True)
        except Exception:  # a template that knows no answers
            return ""
        lead = after[len(before) :].partition(label)[0] if after.startswith(before) else ""
        return lead if lead.isspace() else ""

    @cached_property
    def _has_system_role(self) -> bool:
        """Whether the template takes what the system says, tried once: some raise, some leave it out."""
        mark = "A system that speaks."
        messages = [{"role": "system", "content": mark}, {"role": "user", "content": "A user."}]
        try:
            has = mark in self._render(messages)
        except Exception:  # whatever a template raises by itself
            has = False
        self.metadata["system_role"] = "its own" if has else "none: the system's words open the user's turn"
        return has

    def _render(self, messages: list[dict[str, str]], *, answered: bool = False) -> str:
        """Return the messages in the model's template, as text: what it holds of special tokens is read as such later.

        A model's cache keeps what its template made of them, or why it refused them.
        """
        tokenizer, model = self._tokenizer, self.model
        facts = (
            f"chat {tokenizer.chat_template!r} {tokenizer.all_special_tokens} {TEMPLATE_DATE} {THINKING_OPTIONS} "
            f"{answered} {messages}"
        )
        if isinstance(model, CachedModel) and (kept := model.read_cached_text(facts)):
            rendered: dict[str, str] = json.loads(kept)
        else:
            try:
                text = tokenizer.apply_chat_template(
                    messages,
                    tokenize=False,
                    add_generation_prompt=not answered,
                    date_string=TEMPLATE_DATE,
                    strftime_now=lambda form: TEMPLATE_DATE,
                    **THINKING_OPTIONS,
                )
                rendered = {"text": text}
            except TemplateError as error:
                rendered = {"refused": str(error)}
            if isinstance(model, CachedModel):
                model.cache_texts({facts: json.dumps(rendered)})
        if "refused" in rendered:
            raise TemplateError(rendered["refused"])
        return rendered["text"]


def choose_chat_format(model: Model, chat: bool | None = None) -> ChatFormat:
    """Return how a model is spoken to: by its chat template if it has one, or as `chat` says.

    Raises `ValueError` for a model that takes no prompt, and where there is no template to speak by.
    """
    template: str | dict[str, str] | None = getattr(get_prompt_encoder(model).tokenizer, "chat_template", None)
    if chat and not template:
        raise ValueError(f"model {model.name}: has no chat template; expected an instruction model, or none of --chat")
    by_turns = bool(template) if chat is None else chat
    facts: dict[str, object] = {"chat_template": by_turns}
    if template and by_turns:
        facts["date"] = TEMPLATE_DATE
        text = template if isinstance(template, str) else " ".join(map(str, template.values()))
        switches = [name for name in THINKING_OPTIONS if re.search(rf"\b{name}\b", text)]
        if switches:
            facts["thinking"] = "off"
        elif "<think>" in text:
            facts["thinking"] = "cannot be turned off"
    return ChatFormat(model, by_turns, facts)


def _is_reserved_token(token: Any) -> bool:
    """Whether an added token is one that a text has no business with: special, or in the form of a tag."""
    text: str = token.content
    return bool(token.special) or (text[:1] in "<[" and text[-1:] in ">]" and len(text) > 2)

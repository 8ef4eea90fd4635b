"""Models to prompt: one whose probabilities are written by hand, and tokenizers with the chat templates of five families."""

import math
from pathlib import Path

from tokenizers import AddedToken

from gardenpath import lmscore
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

from .conftest import byte_level, save, torch


def by_hand(folder: Path, table: dict[str, dict[str, float]], chat: str | None = None) -> Path:
    """Save a GPT-2 of two layers in which each word's probability given the last is the one in the table, the rest even.

    Its layers add nothing, the last norm gives back which word was read, and the head holds the logarithms.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = dict.fromkeys(["<end>", "[UNK]", "##x", *table, *(word for row in table.values() for word in row)])
    ids = {word: k for k, word in enumerate(words)}
    backend = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    backend.add_special_tokens([AddedToken("<end>", special=True)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", unk_token="[UNK]", chat_template=chat)
    size = len(ids)
    config = GPT2Config(
        vocab_size=size, n_positions=64, n_embd=size, n_layer=2, n_head=1, bos_token_id=None, eos_token_id=0,
        tie_word_embeddings=False,
    )  # fmt: skip
    network = GPT2LMHeadModel(config)
    spread = math.sqrt((1 / size) * (1 - 1 / size) + config.layer_norm_epsilon)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.transformer.wte.weight.copy_(torch.eye(size))
        network.transformer.ln_f.weight.fill_(spread)
        network.transformer.ln_f.bias.fill_(1 / size)
        for last, k in ids.items():
            row = table.get(last, {})
            left = (1 - sum(row.values())) / (size - len(row))
            for word, j in ids.items():
                network.lm_head.weight[j, k] = math.log(row.get(word, left))
    return save(folder, tokenizer, network)


def pair(good: str, bad: str, name: str = "i1", **rest) -> Item:
    return Item(name, "number", {"grammatical": Sentence(good), "ungrammatical": Sentence(bad)}, **rest)


def materials(*items: Item) -> Materials:
    return Materials((Paradigm("number", "agreement"),), items)


def template(kind: str, user: str, labels: tuple[str, ...] = (), name: str = "1", **rest) -> lmscore.Template:
    return lmscore.Template(kind, name, user, labels=labels, language="en", **rest)


# Templates as the families publish them, without tools; what their documentation says comes of it stands beside in the test.
LLAMA = """{{- bos_token }}{%- if not date_string is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- endif %}{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}{%- else %}{%- set system_message = "" %}{%- endif %}{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}{{- "Cutting Knowledge Date: December 2023\\n" }}{{- "Today Date: " + date_string + "\\n\\n" }}{{- system_message }}{{- "<|eot_id|>" }}{%- for message in messages %}{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"""
QWEN = """{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}"""
MIXTRAL = """{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"""
GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}"""
PHI = """{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>\\n' + message['content'] + '<|end|>\\n'}}{% elif message['role'] == 'user' %}{{'<|user|>\\n' + message['content'] + '<|end|>\\n'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>\\n' + message['content'] + '<|end|>\\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"""
TURNS = {
    "llama": (LLAMA, "<|begin_of_text|>", ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]),
    "qwen": (QWEN, None, ["<|im_start|>", "<|im_end|>"]),
    "mixtral": (MIXTRAL, "<s>", []),
    "gemma": (GEMMA, "<bos>", ["<start_of_turn>", "<end_of_turn>"]),
    "phi": (PHI, None, ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]),
}


def speaking(folder: Path, family: str, *, size: int = 320, window: int = 512) -> Path:
    """Save a small GPT-2 over bytes whose tokenizer has the chat template of a family, and adds BOS by itself if that has one."""
    from tokenizers import processors
    from transformers import GPT2Config, GPT2LMHeadModel

    text, bos, added = TURNS[family]
    tokenizer = byte_level(size)
    special = [AddedToken(token, special=True, normalized=False) for token in [*filter(None, [bos]), *added]]
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    if family == "qwen":
        tokenizer.add_tokens([AddedToken(token, special=False) for token in ("<think>", "</think>")])
    if bos:
        tokenizer.bos_token = bos
        ids = [(bos, tokenizer.convert_tokens_to_ids(bos))]
        backend = tokenizer.backend_tokenizer
        backend.post_processor = processors.TemplateProcessing(single=f"{bos} $A", special_tokens=ids)
    tokenizer.chat_template = text
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=window, n_embd=32, n_layer=2, n_head=2, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=0, initializer_range=0.3,
    )  # fmt: skip
    return save(folder / family, tokenizer, GPT2LMHeadModel(config))

"""Makes a model folder without weights: the frontend reads the tokenizer and the chat template, the mock engine the sizes.

The tokenizer is a byte-level BPE of 8,192 entries trained on made-up words; with one release of `tokenizers` it is the
same file on every machine.
usage: make_model.py FOLDER
"""

import json
import pathlib
import random
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

ONSETS = "b c d f g h j k l m n p r s t v w z br cl dr fl gr pl st tr sh ch".split()
NUCLEI = "a e i o u ai ea oo ou".split()
CODAS = ["", "n", "r", "s", "t", "l", "m", "nd", "st", "ck", "ng"]
SPECIAL = ["<|pad|>", "<|bos|>", "<|eos|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]

rng = random.Random(7)


def word():
    return "".join(rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice(CODAS) for _ in range(rng.choice([1, 1, 2, 2, 3])))


words = sorted({word() for _ in range(9000)})
rng.shuffle(words)
weights = [1 / (rank + 1) ** 0.9 for rank in range(len(words))]
lines = [" ".join(rng.choices(words, weights, k=14)).capitalize() + rng.choice(".?!,;") for _ in range(30000)]

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size=8192, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
tokenizer.train_from_iterator(lines, trainer)
pad, bos, eos = (tokenizer.token_to_id(token) for token in SPECIAL[:3])
ids = {"bos_token_id": bos, "eos_token_id": eos, "pad_token_id": pad}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
tokenizer.save(str(folder / "tokenizer.json"))
files = {
    "generation_config.json": ids,
    "tokenizer_config.json": {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 32768,
        "bos_token": "<|bos|>",
        "eos_token": "<|eos|>",
        "pad_token": "<|pad|>",
        "clean_up_tokenization_spaces": False,
        "chat_template": "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}",
    },
    "config.json": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        **ids,
    },
}
for name, content in files.items():
    (folder / name).write_text(json.dumps(content, indent=1))

"""Makes a Llama with two random layers and a byte-level BPE tokenizer of 2,048 tokens: 1.6 MB, the same on every machine.

usage: make_model.py FOLDER
"""

import random
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

folder = sys.argv[1]
rng = random.Random(1)
syllables = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwz" for vowel in "aeiou"]
words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(3000)]
bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bpe.decoder = decoders.ByteLevel()
bpe.train_from_iterator(
    (" ".join(rng.choices(words, k=200)) for _ in range(400)),
    trainers.BpeTrainer(
        vocab_size=2048,
        special_tokens=["<|bos|>", "<|eos|>", "<|user|>", "<|assistant|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    ),
)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<|bos|>", eos_token="<|eos|>", pad_token="<|eos|>")
tokenizer.chat_template = (
    "<|bos|>{% for m in messages %}<|{{ 'assistant' if m['role'] == 'assistant' else 'user' }}|>{{ m['content'] }}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
tokenizer.save_pretrained(folder)
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=len(tokenizer),
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    max_position_embeddings=4096,
    bos_token_id=tokenizer.bos_token_id,
    eos_token_id=tokenizer.eos_token_id,
    tie_word_embeddings=False,
)
LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)

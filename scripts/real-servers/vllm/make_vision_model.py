"""Makes a LLaVA of random layers around the tokenizer of make_model.py: an image of any size is 16 tokens.

usage: make_vision_model.py FOLDER-OF-MODEL FOLDER
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
)

model, folder = sys.argv[1:3]
tokenizer = AutoTokenizer.from_pretrained(model)
tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
tokenizer.chat_template = (
    "<|bos|>{% for m in messages %}<|{{ 'assistant' if m['role'] == 'assistant' else 'user' }}|>"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{{ part['text'] if part['type'] == 'text' else '<image>' }}{% endfor %}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
torch.manual_seed(0)
side, patch = 56, 14
text = LlamaConfig.from_pretrained(model, vocab_size=len(tokenizer))
vision = CLIPVisionConfig(
    hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, image_size=side, patch_size=patch
)
config = LlavaConfig(
    vision_config=vision,
    text_config=text,
    image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    image_seq_length=(side // patch) ** 2,
)
LlavaForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(folder)
LlavaProcessor(
    image_processor=CLIPImageProcessor(size={"shortest_edge": side}, crop_size={"height": side, "width": side}),
    tokenizer=tokenizer,
    patch_size=patch,
    vision_feature_select_strategy="default",
    chat_template=tokenizer.chat_template,
    num_additional_image_tokens=1,
).save_pretrained(folder)
tokenizer.save_pretrained(folder)

# vLLM knows the weights by the names of earlier releases of transformers.
weights = Path(folder) / "model.safetensors"
earlier = {
    name.replace("vision_tower.", "vision_tower.vision_model.") if ".vision_model." not in name else name: tensor
    for name, tensor in load_file(weights).items()
}
save_file(earlier, weights, metadata={"format": "pt"})

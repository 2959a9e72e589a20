"""usage: to-gguf.py FOLDER FILE: a Qwen3 model in Hugging Face layout, in float32, as GGUF. Enough for token-in: merges are not written."""
import json
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

folder, target = Path(sys.argv[1]), sys.argv[2]
config = json.loads((folder / "config.json").read_text())
tokenizer = json.loads((folder / "tokenizer.json").read_text())
raw = (folder / "model.safetensors").read_bytes()
size = int.from_bytes(raw[:8], "little")

writer = GGUFWriter(target, "qwen3")
writer.add_block_count(config["num_hidden_layers"])
writer.add_context_length(config["max_position_embeddings"])
writer.add_embedding_length(config["hidden_size"])
writer.add_feed_forward_length(config["intermediate_size"])
writer.add_head_count(config["num_attention_heads"])
writer.add_head_count_kv(config["num_key_value_heads"])
writer.add_key_length(config["head_dim"])
writer.add_value_length(config["head_dim"])
writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
writer.add_rope_freq_base(config["rope_theta"])

ids = dict(tokenizer["model"]["vocab"]) | {added["content"]: added["id"] for added in tokenizer["added_tokens"]}
control = {added["id"] for added in tokenizer["added_tokens"] if added["special"]}
tokens = sorted(ids, key=ids.get)
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("gpt-2")
writer.add_token_list(tokens)
writer.add_token_types([TokenType.CONTROL if ids[token] in control else TokenType.NORMAL for token in tokens])
writer.add_token_merges([f"{tokens[0]} {tokens[1]}"])
writer.add_eos_token_id(config["eos_token_id"])
writer.add_add_bos_token(False)

names = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def renamed(name: str) -> str:
    stem = name.removesuffix(".weight")
    if not stem.startswith("model.layers."):
        return f"{names[stem]}.weight"
    _, _, layer, rest = stem.split(".", 3)
    return f"blk.{layer}.{names[rest]}.weight"


for name, about in json.loads(raw[8 : 8 + size]).items():
    if name == "__metadata__":
        continue
    start, end = (8 + size + offset for offset in about["data_offsets"])
    writer.add_tensor(renamed(name), np.frombuffer(raw[start:end], dtype=np.float32).reshape(about["shape"]))

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()

"""The same model in PyTorch: one block of work for each line "go", one JSON line each. Started with a JSON job (see protocol.ts)."""

import json
import struct
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

job = json.loads(sys.argv[1])
torch.set_num_threads(job["threads"])
torch.manual_seed(0)
config = json.load(open(job["folder"] + "/config.json"))
hidden, heads, groups = config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]
head, layers, epsilon = config["head_dim"], config["num_hidden_layers"], config["rms_norm_eps"]
vocabulary, base = config["vocab_size"], config["rope_theta"]
rank = job["rank"]


def load(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        weights = {}
        for name, tensor in header.items():
            if name == "__metadata__":
                continue
            start, end = tensor["data_offsets"]
            file.seek(8 + length + start)
            weights[name] = torch.from_numpy(np.frombuffer(bytearray(file.read(end - start)), np.float32).reshape(tensor["shape"]))
        return weights


weights = load(job["folder"] + "/model.safetensors")
adapter = {}
if rank > 0:
    for name in [name for name in weights if "_proj" in name]:
        outputs, inputs = weights[name].shape
        adapter[name[:-7]] = (torch.randn(rank, inputs) / inputs**0.5, torch.zeros(outputs, rank))


def linear(x, module):
    y = F.linear(x, weights[module + ".weight"])
    if module in adapter:
        a, b = adapter[module]
        y = y + F.linear(F.linear(x, a), b) * 2.0
    return y


def norm(x, name):
    return F.rms_norm(x, (x.shape[-1],), weights[name], epsilon)


def tables(positions):
    half = head // 2
    angles = positions[:, None] * torch.tensor([base ** (-i / half) for i in range(half)])
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(x, cosine, sine):
    half = x.shape[-1] // 2
    return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


def layer(x, index, cosine, sine, cache=None):
    prefix = f"model.layers.{index}."
    attention = prefix + "self_attn."
    rows, width, _ = x.shape
    normed = norm(x, prefix + "input_layernorm.weight")
    split = lambda y, count: y.view(rows, width, count, head)
    q = norm(split(linear(normed, attention + "q_proj"), heads), attention + "q_norm.weight").transpose(1, 2)
    k = norm(split(linear(normed, attention + "k_proj"), groups), attention + "k_norm.weight").transpose(1, 2)
    v = split(linear(normed, attention + "v_proj"), groups).transpose(1, 2)
    q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
    if cache is not None:
        keys, values, position = cache
        keys[:, :, position : position + width] = k
        values[:, :, position : position + width] = v
        k, v = keys[:, :, : position + width], values[:, :, : position + width]
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=width > 1, enable_gqa=True)
    x = x + linear(attended.transpose(1, 2).reshape(rows, width, heads * head), attention + "o_proj")
    normed = norm(x, prefix + "post_attention_layernorm.weight")
    return x + linear(F.silu(linear(normed, prefix + "mlp.gate_proj")) * linear(normed, prefix + "mlp.up_proj"), prefix + "mlp.down_proj")


def logits_of(x):
    return F.linear(norm(x, "model.norm.weight"), weights["model.embed_tokens.weight"])


def sequence_loss(tokens, cosine, sine):
    x = F.embedding(tokens[:, :-1], weights["model.embed_tokens.weight"])
    for index in range(layers):
        x = layer(x, index, cosine, sine)
    return F.cross_entropy(logits_of(x).flatten(0, 1), tokens[:, 1:].flatten())


def tokens_of(rows, width):
    return ((torch.arange(rows * width) * 7919 + 13) % vocabulary).view(rows, width)


def training():
    rows, width = job["rows"], job["width"]
    trained = [tensor for pair in adapter.values() for tensor in pair] if rank > 0 else list(weights.values())
    for tensor in trained:
        tensor.requires_grad_(True)
    optimiser = torch.optim.AdamW(trained, lr=1e-6, betas=(0.9, 0.99), weight_decay=0.01, fused=True)
    loss_of = torch.compile(sequence_loss) if job["compiled"] else sequence_loss
    tokens = tokens_of(rows, width + 1)
    cosine, sine = tables(torch.arange(width))

    def block():
        optimiser.zero_grad()
        loss = loss_of(tokens, cosine, sine)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        return rows * width, loss.item()

    return block


def decoding():
    lanes, prompt, steps = job["lanes"], job["prompt"], job["steps"]
    tokens = tokens_of(lanes, prompt + steps)
    cosine, sine = tables(torch.arange(prompt + steps))
    caches = [[torch.zeros(lanes, groups, prompt + steps, head) for _ in range(2)] for _ in range(layers)]

    def forward(tokens, cosine, sine, position):
        x = F.embedding(tokens, weights["model.embed_tokens.weight"])
        for index in range(layers):
            x = layer(x, index, cosine, sine, (*caches[index], position))
        return logits_of(x[:, -1])

    step = torch.compile(forward, dynamic=True) if job["compiled"] else forward
    run = lambda step, start, count: step(tokens[:, start : start + count], cosine[start : start + count], sine[start : start + count], start)
    with torch.no_grad():
        run(forward, 0, prompt)

    def block():
        with torch.no_grad():
            for position in range(prompt, prompt + steps):
                logits = run(step, position, 1).numpy()
        return lanes * steps, float(logits[0, 0])

    return block


def reading():
    width = job["prompt"]
    tokens = tokens_of(1, width)
    cosine, sine = tables(torch.arange(width))
    caches = [[torch.zeros(1, groups, width, head) for _ in range(2)] for _ in range(layers)]

    def forward(tokens, cosine, sine):
        x = F.embedding(tokens, weights["model.embed_tokens.weight"])
        for index in range(layers):
            x = layer(x, index, cosine, sine, (*caches[index], 0))
        return logits_of(x[:, -1])

    step = torch.compile(forward) if job["compiled"] else forward

    def block():
        with torch.no_grad():
            return width, float(step(tokens, cosine, sine).numpy()[0, 0])

    return block


block = {"training": training, "decoding": decoding, "reading": reading}[job["task"]]()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    if line.strip() != "go":
        break
    started, busy = time.perf_counter(), time.process_time()
    units, check = block()
    spent = {"seconds": time.perf_counter() - started, "processorSeconds": time.process_time() - busy}
    print(json.dumps({**spent, "units": units, "check": check}), flush=True)
status = open("/proc/self/status").read()
print(json.dumps({"peak": int(status.split("VmHWM:")[1].split()[0]) * 1024}), flush=True)

# usage: peft-losses.py MODEL ADAPTER CHATS.json
# Loads an adapter with Python's own peft onto a model folder and prints {"missing": [...], "unexpected": [...], "base": loss, "adapted": loss}:
# the mean cross-entropy over the tokens of CHATS ({"sequences": [[id…]…], "mask": [[0|1 for each predicted token…]…]}), in float32.
import json
import sys

import peft
import torch
import transformers

transformers.logging.set_verbosity_error()


def loss(model, sequences, mask):
    total, count = 0.0, 0.0
    for ids, weights in zip(sequences, mask):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, :-1].double()
        picked = torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:]).unsqueeze(1))[:, 0]
        weights = torch.tensor(weights, dtype=torch.float64)[: len(ids) - 1]
        total -= float((picked * weights).sum())
        count += float(weights.sum())
    return total / count


model_folder, adapter_folder, chats = sys.argv[1:4]
with open(chats, encoding="utf-8") as file:
    given = json.load(file)
torch.set_num_threads(2)
model = transformers.AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32, attn_implementation="eager")
base = loss(model, given["sequences"], given["mask"])
config = peft.PeftConfig.from_pretrained(adapter_folder)
config.inference_mode = True
adapted = peft.get_peft_model(model, config)
state = peft.utils.load_peft_weights(adapter_folder, device="cpu")
result = peft.set_peft_model_state_dict(adapted, state)
lora = [name for name in result.missing_keys if "lora_" in name]
print(
    json.dumps(
        {
            "versions": f"peft {peft.__version__}, transformers {transformers.__version__}, torch {torch.__version__}",
            "missing": lora,
            "unexpected": list(result.unexpected_keys),
            "base": base,
            "adapted": loss(adapted, given["sequences"], given["mask"]),
        }
    )
)

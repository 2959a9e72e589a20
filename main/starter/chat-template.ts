/**
 * The chat template of the starter policy: ChatML, with the tools as JSON behind the system prompt, calls in Hermes' form, and a space before what a tool
 * says, so that its first word is the same token as in the middle of a line.
 */
export const chatTemplate = `{#- The starter policy's conversations. -#}
{%- set opening = messages[0] if messages and messages[0].role == "system" else none %}
{%- if opening or tools %}
    {{- "<|im_start|>system\\n" }}
    {%- if opening %}
        {{- opening.content }}
    {%- endif %}
    {%- for tool in tools or [] %}
        {{- "\\n" }}{{ tool | tojson }}
    {%- endfor %}
    {{- "<|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
    {%- if loop.first and opening %}
        {%- continue %}
    {%- endif %}
    {{- "<|im_start|>" }}{{ message.role }}{{ "\\n" }}
    {%- if message.role == "tool" %}
        {{- " " }}
    {%- endif %}
    {{- message.content or "" }}
    {%- for call in message.tool_calls or [] %}
        {%- if message.content or not loop.first %}
            {{- "\\n" }}
        {%- endif %}
        {{- '<tool_call>\\n{"name": "' }}{{ call.function.name }}{{ '", "arguments": ' }}
        {{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
        {{- "}\\n</tool_call>" }}
    {%- endfor %}
    {{- "<|im_end|>\\n" }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- "<|im_start|>assistant\\n" }}
{%- endif %}
`;

/** Control tokens; the ones with a line end save a token or two at every turn. */
export const specialTokens = [
  "<|endoftext|>",
  "<|im_end|>",
  "<|im_start|>",
  "<|im_start|>system\n",
  "\n<|im_start|>user\n",
  "\n<|im_start|>assistant\n",
  "\n<|im_start|>tool\n",
] as const;

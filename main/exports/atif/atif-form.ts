/** ATIF 1.8 as we write it. Unknown fields are forbidden except under `extra`. */
type Extra = Readonly<Record<string, unknown>>;

export interface AtifImage {
  readonly type: "image";
  readonly source: { readonly media_type: string; readonly path: string };
}
export type AtifPart = { readonly type: "text"; readonly text: string } | AtifImage;
export type AtifContent = string | readonly AtifPart[];

export interface AtifAgent {
  readonly name: string;
  readonly version: string;
  readonly model_name?: string;
  readonly tool_definitions?: readonly object[];
}

export interface AtifStep {
  readonly step_id: number;
  readonly timestamp?: string;
  readonly source: "system" | "user" | "agent";
  readonly message: AtifContent;
  readonly model_name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly tool_call_id: string;
    readonly function_name: string;
    readonly arguments: Extra;
    readonly extra?: Extra;
  }[];
  readonly observation?: { readonly results: readonly { readonly source_call_id?: string; readonly content: AtifContent }[] };
  readonly metrics?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cached_tokens?: number;
    readonly prompt_token_ids?: readonly number[];
    readonly completion_token_ids?: readonly number[];
    readonly logprobs?: readonly number[];
    readonly extra?: Extra;
  };
  readonly is_copied_context?: boolean;
  readonly llm_call_count?: number;
  readonly extra?: Extra;
}

export interface AtifTrajectory {
  readonly schema_version: "ATIF-v1.8";
  readonly session_id: string;
  readonly trajectory_id: string;
  readonly agent: AtifAgent;
  readonly steps: readonly AtifStep[];
  readonly final_metrics?: Extra;
  readonly subagent_trajectories?: readonly AtifTrajectory[];
  readonly extra?: Extra;
}

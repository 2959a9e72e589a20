/** The contract ready to be implemented: expected failures leave it as the error it declares. */
import { implement } from "@orpc/server";
import { contract } from "./contract.ts";
import { asContractError } from "./work-stream.ts";

export function contractImplementer() {
  return implement(contract).use(async ({ next }) => {
    try {
      return await next();
    } catch (error) {
      throw asContractError(error);
    }
  });
}

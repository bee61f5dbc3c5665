/** A `tools/call` request; what is undefined in `over` is left out. */
export function aRequest(over: object = {}): Record<string, unknown> {
  const params = { name: "send_money", arguments: { to: "landlord", amount: 20 } };
  return { jsonrpc: "2.0", id: "call-1", method: "tools/call", params, ...over };
}

export function aRequestText(over: object = {}): string {
  return JSON.stringify(aRequest(over));
}

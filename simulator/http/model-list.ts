/** The response of `GET /v1/models` for one model, as vLLM gives it. */
export function modelList(id: string, maxModelLen: number, ownedBy: string): string {
  const created = Math.floor(Date.now() / 1000);
  const model = {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    root: id,
    parent: null,
    max_model_len: maxModelLen,
    permission: [],
  };
  return JSON.stringify({ object: 'list', data: [model] });
}

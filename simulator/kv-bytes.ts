/** KV cache of one token of a model of about 8 billion parameters: 32 layers, 8 heads of 128, keys and values, 2 bytes. */
export const KV_BYTES_PER_TOKEN = 131_072;

/** Its weights, 2 bytes each. */
export const MODEL_BYTES = 16e9;

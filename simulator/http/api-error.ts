/** A response that refuses a request, in the shape that vLLM gives OpenAI's errors. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;

  constructor(status: number, type: string, message: string, param: string | null = null) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.type = type;
    this.param = param;
  }

  body(): string {
    const { message, type, param, status } = this;
    return JSON.stringify({ error: { message, type, param, code: status } });
  }
}

export function badRequest(message: string, param: string | null = null): ApiError {
  return new ApiError(400, 'BadRequestError', message, param);
}

/** What can go wrong when the keeper is asked, as one class, so that it is shown in one way. */

export interface ErrorBody {
  code: string;
  message: string;
  details: Record<string, unknown>;
}

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: nobody answered
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** The keeper did not answer at all, or only something in front of it did: asking again may help. */
  get isAway(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }

  /** Nobody is logged in (any more). */
  get isLoggedOut(): boolean {
    return this.status === 401;
  }

  get isNotFound(): boolean {
    return this.status === 404;
  }

  get requestId(): string | null {
    const id = this.details.request_id;
    return typeof id === "string" ? id : null;
  }
}

export function away(): ApiError {
  return new ApiError(0, "keeper_unavailable", "The keeper does not answer. It may be starting again; this page keeps asking.");
}

/** The error of an answer that is none of 2xx: ours has a shape, a proxy's may be anything. */
export function errorOf(status: number, body: unknown): ApiError {
  const given = (body as { error?: Partial<ErrorBody> } | null)?.error;
  if (given && typeof given.message === "string") {
    return new ApiError(status, given.code ?? "error", given.message, given.details ?? {});
  }
  if (status === 502 || status === 503 || status === 504) return new ApiError(status, away().code, away().message);
  return new ApiError(status, "error", `The server answered with status ${status} and said no more.`);
}

/** Splits a message of ours into what happened and what to do: `Words. Try \`this\`.` Commands stay in backticks. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(-1, "studio", error instanceof Error ? error.message : String(error));
}

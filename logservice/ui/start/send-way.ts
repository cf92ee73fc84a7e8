/** A way to send events, to be copied. */
export interface SendWay {
  readonly name:
    | ("curl" | "A log file" | "tool" | "JavaScript" | "Python")
    | ("pino" | "winston" | "Python logging" | "Go slog" | "log4j2" | "nginx" | "Vector" | "Fluent Bit");
  /** Whether it sends events as `add_events` takes them, with their own times. */
  readonly isOfEvents?: boolean;
  readonly about: string;
  readonly text: string;
}

export interface SendPlace {
  /** Origin of the service, such as https://logs.example.com. */
  readonly origin: string;
  readonly projectId: string;
  readonly token: string;
}

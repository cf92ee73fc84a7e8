export interface NoAnswerProps {
  /** Whether the query is not valid; otherwise it was given up or failed. */
  readonly isWrong: boolean;
  onRun(): void;
}

/** Nothing was asked yet, and nothing is: the query is not valid, was given up, or failed, which is said above. */
export function NoAnswer({ isWrong, onRun }: NoAnswerProps) {
  return (
    <div class="empty" role="status">
      <h2>{isWrong ? "The query is not valid" : "The query was not answered"}</h2>
      <p>
        {isWrong
          ? "What is wrong is underlined above. Fix it and the events appear."
          : "It was cancelled or it failed."}
      </p>
      {!isWrong && (
        <button type="button" class="button" onClick={onRun}>
          Run it again
        </button>
      )}
    </div>
  );
}

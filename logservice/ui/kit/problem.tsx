/** The problem of a change, said at once. */
export function ProblemNote({ text }: { readonly text: string | undefined }) {
  if (!text) return null;
  return (
    <p class="note error" role="alert">
      {text}
    </p>
  );
}

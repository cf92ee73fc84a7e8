import { Dialog } from "../kit/dialog.tsx";

const KEYS: readonly { readonly keys: readonly string[]; readonly text: string }[] = [
  { keys: ["Ctrl K"], text: "Find a page, a project or a saved search" },
  { keys: ["/"], text: "Type a query" },
  { keys: ["Ctrl Enter"], text: "Run the query at once" },
  { keys: ["Ctrl Space"], text: "Show what may be written next" },
  { keys: ["Alt ↑", "Alt ↓"], text: "In the query: the queries of before" },
  { keys: ["j", "k"], text: "The next event, the one before" },
  { keys: ["Enter"], text: "Open the event" },
  { keys: ["x"], text: "Close the event" },
  { keys: ["Home", "End"], text: "The first event, the last one" },
  { keys: ["l"], text: "Live: show events as they arrive" },
  { keys: ["w"], text: "Wrap long messages" },
  { keys: ["f"], text: "Show or hide the fields" },
  { keys: ["←", "→"], text: "In the histogram: from bar to bar, with Shift mark a range, Enter zooms" },
  { keys: ["["], text: "An earlier range" },
  { keys: ["]"], text: "A later range" },
  { keys: ["-"], text: "A wider range" },
  { keys: ["?"], text: "This list" },
];

/** The keys that do something. */
export function KeyList({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(({ keys, text }) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

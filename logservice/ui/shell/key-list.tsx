import { Dialog } from "../kit/dialog.tsx";

const KEYS: readonly { readonly keys: readonly string[]; readonly text: string }[] = [
  { keys: ["Ctrl K"], text: "Find a page, a project or a saved search" },
  { keys: ["/"], text: "Type a query" },
  { keys: ["Ctrl Enter"], text: "Run the query at once" },
  { keys: ["Ctrl Space"], text: "Show suggestions" },
  { keys: ["Alt ↑", "Alt ↓"], text: "In the query: earlier queries" },
  { keys: ["j", "k"], text: "Next or previous event" },
  { keys: ["Enter"], text: "Open the event" },
  { keys: ["x"], text: "Close the event" },
  { keys: ["Home", "End"], text: "First or last event" },
  { keys: ["l"], text: "Live: show events as they arrive" },
  { keys: ["w"], text: "Wrap long messages" },
  { keys: ["f"], text: "Show or hide the fields" },
  { keys: ["←", "→"], text: "In the histogram: from bar to bar, with Shift mark a range, Enter zooms" },
  { keys: ["→"], text: "In the fields: what to do with a field or a value" },
  { keys: ["["], text: "Earlier range" },
  { keys: ["]"], text: "Later range" },
  { keys: ["-"], text: "Wider range" },
  { keys: ["?"], text: "This list" },
];

/** The keys that do something. */
export function KeyList({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
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

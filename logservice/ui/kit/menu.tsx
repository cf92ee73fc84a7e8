import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface MenuItem {
  readonly text: ComponentChildren;
  /** Where it leads; or what it does. */
  readonly href?: string;
  onChoose?(): void;
  /** Whether this is the current one of several. */
  readonly isChosen?: boolean;
  /** Whether this is on, which others do not change. */
  readonly isOn?: boolean;
}

/** A line between items, or a title of those that follow. */
export type MenuEntry = MenuItem | "line" | { readonly title: string };

export interface MenuProps {
  readonly label: ComponentChildren;
  /** The name of the button for a person who does not see it. */
  readonly name?: string;
  readonly class?: string;
  readonly entries: readonly MenuEntry[];
  /** At which edge of the button the list begins. */
  readonly align?: "left" | "right";
}

/** A button that opens a list of things to do: WAI-ARIA's menu button. */
export function Menu({ label, name, class: style = "button", entries, align = "left" }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  // Before the next key, which is for the list.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const items = itemsIn(list.current!);
    keepInView(list.current!);
    (items.find((item) => item.getAttribute("aria-checked") === "true") ?? items[0] ?? list.current!).focus();
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const leavings = ["pointerdown", "focusin"];
    for (const name of leavings) document.addEventListener(name, leave);
    return () => {
      for (const name of leavings) document.removeEventListener(name, leave);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current!.focus();
  };
  return (
    <span
      class="with-menu"
      ref={root}
      onKeyDown={(event) => {
        if (!isOpen || event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        type="button"
        ref={button}
        class={style}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={name}
        title={name}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") {
            event.preventDefault();
            setOpen(true);
          } else if (event.key === "Escape" && isOpen) {
            event.stopPropagation();
            setOpen(false);
          }
        }}
      >
        {label}
      </button>
      {isOpen && (
        <div
          class="menu"
          id={id}
          ref={list}
          role="menu"
          tabIndex={-1}
          style={{ top: "calc(100% + 4px)", [align]: "0" }}
          onKeyDown={(event) => {
            if (event.key === "Tab") return setOpen(false);
            const items = itemsIn(list.current!);
            const to = nextOf(items, event.key);
            if (to === undefined) return;
            event.preventDefault();
            to.focus();
          }}
        >
          {entries.map((entry, i) => (
            <Entry key={i} entry={entry} close={close} />
          ))}
        </div>
      )}
    </span>
  );
}

function Entry({ entry, close }: { readonly entry: MenuEntry; close(): void }) {
  if (entry === "line") return <hr />;
  if ("title" in entry) return <div class="title">{entry.title}</div>;
  const { text, href, onChoose, isChosen, isOn } = entry;
  const role = isOn !== undefined ? "menuitemcheckbox" : isChosen !== undefined ? "menuitemradio" : "menuitem";
  if (href !== undefined)
    return (
      <a role={role} tabIndex={-1} href={href} aria-checked={isChosen} onClick={close}>
        {text}
      </a>
    );
  return (
    <button
      type="button"
      role={role}
      tabIndex={-1}
      aria-checked={isOn ?? isChosen}
      onClick={() => {
        close();
        onChoose?.();
      }}
    >
      {text}
    </button>
  );
}

/** Moves an open list to the left where its right edge would be cut: by the window, or by what its button scrolls in. */
function keepInView(list: HTMLElement): void {
  const edge = Math.min(innerWidth, list.closest(".rows-head")?.getBoundingClientRect().right ?? innerWidth);
  const beyond = list.getBoundingClientRect().right + 4 - edge;
  if (beyond > 0 && list.style.right === "") list.style.left = `${-beyond}px`;
}

const itemsIn = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>('[role^="menuitem"]')];

/** The item that a key leads to: the arrows, Home, End, or the first letter of one. */
function nextOf(items: readonly HTMLElement[], key: string): HTMLElement | undefined {
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (key === "ArrowDown") return items[(at + 1) % items.length];
  if (key === "ArrowUp") return items[(at - 1 + items.length) % items.length];
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (key.length !== 1) return undefined;
  const letter = key.toLowerCase();
  return [...items.slice(at + 1), ...items].find((item) => item.textContent.trim().toLowerCase().startsWith(letter));
}

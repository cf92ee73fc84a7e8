import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useDrawer } from "../kit/drawer.ts";

export interface DetailPanelProps {
  /** The id of the event, once it is known. Another one is read from its beginning. */
  readonly eventId: string | undefined;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** The panel around the event that is open: beside the list, or over all of the page. */
export function DetailPanel({ eventId, children, onClose }: DetailPanelProps) {
  const panel = useRef<HTMLElement>(null);
  const modal = useDrawer(panel, true);
  useEffect(() => panel.current?.scrollTo(0, 0), [eventId]);
  return (
    <section
      class="detail"
      aria-label="Event"
      ref={panel}
      {...modal}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      {children}
    </section>
  );
}

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Waiting } from "./state.tsx";

/** How long to wait before it is tried again. */
const RETRY_MS = 3_000;

/** A component that is loaded when it is first shown. */
export function late<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let component: FunctionComponent<Props> | undefined;
  return (props) => {
    const [, redraw] = useState(0);
    const [error, setError] = useState<unknown>(undefined);
    const ask = () => {
      load().then((result) => {
        component = result;
        setError(undefined);
        redraw((n) => n + 1);
      }, setError);
    };
    useEffect(() => {
      if (component === undefined) ask();
    }, []);
    useEffect(() => {
      if (error === undefined) return;
      // The service may only be gone for a moment.
      const timer = setInterval(ask, RETRY_MS);
      return () => clearInterval(timer);
    }, [error]);
    if (error !== undefined) {
      // After an upgrade of the service, the files of the page that is shown are gone.
      const reason = new Error("this part of the page could not be loaded. It is tried again every few seconds");
      return (
        <div class="page">
          <Failure error={reason} retry={() => location.reload()} what="Load the page again" />
        </div>
      );
    }
    const Component = component;
    return Component === undefined ? <Waiting /> : <Component {...props} />;
  };
}

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Waiting } from "./state.tsx";

/** A component that is loaded when it is first shown. */
export function late<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let found: FunctionComponent<Props> | undefined;
  return (props) => {
    const [, redraw] = useState(0);
    const [error, setError] = useState<unknown>(undefined);
    const ask = () => {
      setError(undefined);
      load().then((component) => {
        found = component;
        redraw((n) => n + 1);
      }, setError);
    };
    useEffect(() => {
      if (found === undefined) ask();
    }, []);
    if (error !== undefined) {
      // After an upgrade of the service, the files of the page that is shown are gone.
      const reason = new Error("this part of the page could not be loaded: load the page again if this stays");
      return <Failure error={reason} retry={ask} />;
    }
    const Found = found;
    return Found === undefined ? <Waiting /> : <Found {...props} />;
  };
}

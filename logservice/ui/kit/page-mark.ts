import { useLayoutEffect } from "preact/hooks";

/**
 * Says something of the whole page in `data-` of its root, for the styles. `:has()` would say it without a script, but for
 * that each change below it has the browser look at the whole page again.
 */
export function usePageMark(name: "covered" | "firstUse", isSo: boolean): void {
  useLayoutEffect(() => {
    if (!isSo) return;
    const { dataset } = document.documentElement;
    dataset[name] = "true";
    return () => {
      delete dataset[name];
    };
  }, [name, isSo]);
}

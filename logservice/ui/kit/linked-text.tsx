import { Text } from "./text.tsx";

/** An address ends before the punctuation of its sentence. */
const ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]])/;

/** A text from anybody in its lines, the addresses in it as links. */
export function LinkedText({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(ADDRESS).map((part, i) =>
        i % 2 === 0 ? (
          <Text key={i} text={part} keepsLines />
        ) : (
          <a key={i} href={part} target="_blank" rel="noopener noreferrer">
            <Text text={part} />
          </a>
        ),
      )}
    </>
  );
}

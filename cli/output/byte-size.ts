export function byteSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const [unit, size] = bytes < 999_950 ? ["kB", 1e3] : bytes < 999_950_000 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(bytes / size).toFixed(1)} ${unit}`;
}

/** Contrast of two colours, `#rgb` or `#rrggbb`, by WCAG 2.2: from 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const hex = color.length === 4 ? color.replace(/[0-9a-f]/g, "$&$&") : color;
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [bright, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

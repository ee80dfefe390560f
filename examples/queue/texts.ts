// What the pipeline counts, in place of files. A paragraph that begins with ~ is not there at first, one with a zero byte
// is no text.

const TEXTS: Readonly<Record<string, string>> = {
  moon: `The moon goes around the earth once a month, and always shows us the same side.

Nearest to the moon an orbit has its perilune, and farthest from it its apolune.`,
  tides: `Twice a day the sea rises and falls.

~ At new moon and at full moon the tides are greatest: sun and moon pull together.

A week later they are smallest.`,
  orbits: `\0\u0001\u0002

An orbit is a fall that misses the ground.`,
}

export function paragraphs(title: string): readonly string[] {
  return (TEXTS[title] ?? '').split('\n\n')
}

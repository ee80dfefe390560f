// How much of the code is repeated: runs of lines that are the same except for indentation.

const RUN = 6
// Imports, and lines that say nothing by themselves, stand alike in many places.
const SAYS_NOTHING = /^(?:import\b.*|\} from .*|export \{?.*\} from .*|[^\w]*|end|else|return)$/

/** The share of the lines of code that stand in a second place as well, in a run of six or more. */
export function repeatedShare(files: readonly (readonly string[])[]): number {
  const texts = files.map((lines) =>
    lines.map((line) => line.trim()).filter((line) => !SAYS_NOTHING.test(line)),
  )
  const places = new Map<string, number>()
  for (const text of texts) for (const run of runsOf(text)) places.set(run, (places.get(run) ?? 0) + 1)
  const repeated = texts.map((text) => {
    const lines = new Set<number>()
    for (const [at, run] of runsOf(text).entries()) {
      if ((places.get(run) ?? 0) > 1) for (let line = at; line < at + RUN; line++) lines.add(line)
    }
    return lines.size
  })
  const total = texts.reduce((sum, { length }) => sum + length, 0)
  return total === 0 ? 0 : repeated.reduce((sum, lines) => sum + lines, 0) / total
}

function runsOf(text: readonly string[]): string[] {
  return text.slice(0, Math.max(0, text.length - RUN + 1)).map((_, at) => text.slice(at, at + RUN).join('\n'))
}

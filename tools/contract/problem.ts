/** One thing that the compiler refuses, at its place in the source file. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly message: string
}

/** Thrown when a tree of Lua files breaks the grammar; holds every problem found, in file order. */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n'))
    this.problems = problems
  }
}

/** The same problems sorted by file and line, each once: a fragment is seen by many scripts. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((problem) => [JSON.stringify(problem), problem]))
  return [...seen.values()].toSorted(
    (a, b) =>
      a.file.localeCompare(b.file, 'en') || a.line - b.line || a.message.localeCompare(b.message, 'en'),
  )
}

// What stands where in a file, by its syntax: lines say nothing of it.

import { type Comment, type Node, parse } from 'luaparse'

/** A file as it is read before its fragments are spliced in. */
export interface Layout {
  /** Whether the line begins within a text or a comment. */
  isWithinToken(line: number): boolean
  /** The last line of the innermost block that the line is in; Infinity outside of all. */
  blockEnd(line: number): number
}

const FUNCTIONS_AND_LOOPS = [
  'FunctionDeclaration',
  'DoStatement',
  'WhileStatement',
  'RepeatStatement',
  'ForNumericStatement',
  'ForGenericStatement',
]
const BLOCKS = new Set([...FUNCTIONS_AND_LOOPS, 'IfClause', 'ElseifClause', 'ElseClause'])

interface Span {
  readonly first: number
  readonly last: number
}

/** Of text that is no Lua: as if it had neither blocks nor long texts. It is refused elsewhere. */
export function layoutOf(text: string): Layout {
  const { tokens, blocks } = spansIn(text)
  return {
    isWithinToken: (line) => tokens.some(({ first, last }) => first < line && line <= last),
    blockEnd: (line) => {
      const around = blocks.filter(({ first, last }) => first <= line && line <= last)
      return Math.min(...around.map(({ last }) => last))
    },
  }
}

function spansIn(text: string): { tokens: Span[]; blocks: Span[] } {
  const tokens: Span[] = []
  const blocks: Span[] = []
  const onCreateNode = (node: Node): void => {
    if (node.type === 'StringLiteral') tokens.push(spanOf(node))
    else if (BLOCKS.has(node.type)) blocks.push(spanOf(node))
  }
  try {
    const { comments = [] } = parse(text, { luaVersion: '5.1', locations: true, onCreateNode })
    return { tokens: [...tokens, ...comments.map(spanOf)], blocks }
  } catch {
    return { tokens: [], blocks: [] }
  }
}

function spanOf({ loc }: Node | Comment): Span {
  return { first: loc?.start.line ?? 0, last: loc?.end.line ?? -1 }
}

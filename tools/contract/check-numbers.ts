// Numbers as Lua 5.1 reads them: the parser takes some for numbers that Redis refuses, and Lua takes one for another.

import type { Node } from 'luaparse'
import type { Refuse } from './head.ts'
import { lineOf, spanOf } from './scope.ts'
import type { Script } from './script.ts'

export function checkNumbers({ names, built }: Script, refuse: Refuse): void {
  for (const node of names.nodes) {
    if (isMinusZero(node))
      refuse(
        lineOf(node),
        'Lua 5.1 takes 0 and -0 for one constant, and has the one that it meets first: write 0, or -1 / math.huge',
      )
    if (node.type !== 'NumericLiteral') continue
    const { to } = spanOf(node)
    const behind = /^\w*/.exec(built.source.slice(to))?.[0] ?? ''
    if (behind !== '' || /^0x.*[.p]/i.test(node.raw))
      refuse(
        lineOf(node),
        `${node.raw}${behind} is no number of Lua 5.1: write decimals or 0xff, and a blank behind the number`,
      )
  }
}

function isMinusZero(node: Node): boolean {
  if (node.type !== 'UnaryExpression' || node.operator !== '-') return false
  return node.argument.type === 'NumericLiteral' && node.argument.value === 0
}

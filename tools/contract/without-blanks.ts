// What Redis is sent without the blanks that Lua does not need. Lines stay as they are.

import { parse } from 'luaparse'
import type { Span } from './scope.ts'

/** `source` has no comments, and what is a text over several lines in it stays as it is. */
export function withoutBlanks(source: string): string {
  let text = ''
  let last: Span = { from: 0, to: 0 }
  for (const token of tokensOf(source)) {
    const next = source.slice(token.from, token.to)
    text += gap(source.slice(last.from, last.to), source.slice(last.to, token.from), next) + next
    last = token
  }
  return text + breaksOf(source.slice(last.to))
}

function gap(last: string, between: string, next: string): string {
  if (between === '') return ''
  return breaksOf(between) || (areJoined(last, next) ? ' ' : '')
}

function breaksOf(blanks: string): string {
  return blanks.replaceAll(/[^\n]/g, '')
}

/** Whether two things without a blank between them would be others. */
function areJoined(last: string, next: string): boolean {
  const isNumber = /^\.?\d/.test(last)
  return isNumber ? /^[\w.]/.test(next) : /^\w\w|^\.\.|^--|^\[\[/.test(last.slice(-1) + next.charAt(0))
}

/** The places of all words and signs. */
function tokensOf(source: string): Span[] {
  const lexer = parse(source, { luaVersion: '5.1', wait: true })
  const tokens: Span[] = []
  for (let token = lexer.lex(); token.type !== END_OF_FILE; token = lexer.lex())
    tokens.push({ from: token.range[0], to: token.range[1] })
  return tokens
}

/** As luaparse numbers the kinds of tokens. */
const END_OF_FILE = 1

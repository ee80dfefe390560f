import { type Chunk, parse } from 'luaparse'
import type { Refuse } from './head.ts'
import { mendOf } from './syntax-mends.ts'

/** The syntax tree, with places; null where the text is no Lua, which is refused. */
export function parseLua(source: string, refuse: Refuse): Chunk | null {
  try {
    return parse(source, { luaVersion: '5.1', locations: true, ranges: true })
  } catch (error) {
    if (error instanceof RangeError) {
      refuse(1, 'the file is nested too deeply to be read: make functions of its inner parts')
      return null
    }
    const [, line, message] =
      (error instanceof SyntaxError && /^\[(\d+):\d+\] (.*)$/s.exec(error.message)) || []
    if (line === undefined || message === undefined) throw error
    refuse(Number(line), `syntax error: ${message}${mendOf(source, Number(line), message)}`)
    return null
  }
}

import type { AnswerField, OptionalCommand } from './contract.ts'
import { answerFields } from './fields.ts'
import { linesOf } from './lines.ts'

/** Called with a line of the built script and what is wrong there. */
export type Refuse = (line: number, message: string) => void

interface DeclaredAnswer {
  readonly line: number
  /** Null when the line could not be read. */
  readonly fields: readonly AnswerField[] | null
}

/** What the block comment at the top of an operation says. */
export interface Head {
  readonly about: string
  readonly answers: ReadonlyMap<string, DeclaredAnswer>
  readonly cost: string
  readonly reads: boolean
  /** Why the script may run twice, where its commands alone do not say so; null without the word. */
  readonly repeats: string | null
  readonly optional: readonly OptionalCommand[]
  /** The first line after the block. */
  readonly after: number
}

interface Tag {
  readonly name: string
  readonly line: number
  text: string
}

const WORD = /^[a-z][a-z0-9_-]*$/

/** Reads the head of an operation; null when the file does not begin with one. */
export function readHead(source: string, refuse: Refuse): Head | null {
  const lines = linesOf(source)
  const end = lines.findIndex((line) => line.trimEnd().endsWith(']]'))
  if (!lines[0]?.startsWith('--[[') || end < 0) {
    refuse(1, 'an operation begins with a --[[ head ]] that says what it does')
    return null
  }
  const text = lines.slice(0, end + 1)
  text[0] = text[0]?.slice(4) ?? ''
  text[end] = (text[end] ?? '').trimEnd().slice(0, -2)
  return assemble(text, end + 2, refuse)
}

/** The first sentence of the prose. */
export function summary(about: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(about)?.[0] ?? about
}

/** Commands that a fragment or a head marks as guarded at run time. */
export function optionalCommands(source: string): OptionalCommand[] {
  return linesOf(source).flatMap((line) => {
    const [, command, reason] = /^-- @optional\s+([A-Z]+)\s+(.+)$/.exec(line) ?? []
    return command === undefined || reason === undefined ? [] : [{ command, reason: reason.trim() }]
  })
}

function assemble(lines: readonly string[], after: number, refuse: Refuse): Head {
  const { prose, tags } = split(lines)
  const about = paragraphs(prose)
  if (about === '') refuse(1, 'the head says in a sentence what the operation does')
  const answers = readAnswers(tags, refuse)
  if (answers.size === 0) refuse(1, 'the head declares no answer: write @returns word')
  return {
    about,
    answers,
    cost: readCost(tags, refuse),
    reads: tags.some(({ name }) => name === 'reads'),
    repeats: readRepeats(tags, refuse),
    optional: readOptional(tags, refuse),
    after,
  }
}

function split(lines: readonly string[]): { prose: string[]; tags: Tag[] } {
  const prose: string[] = []
  const tags: Tag[] = []
  for (const [index, line] of lines.entries()) {
    const [, name, text] = /^@(\S*)\s*(.*)$/.exec(line) ?? []
    const open = tags.at(-1)
    if (name !== undefined) tags.push({ name, line: index + 1, text: (text ?? '').trim() })
    else if (open && /^\s+\S/.test(line)) open.text = `${open.text} ${line.trim()}`.trim()
    else if (!open) prose.push(line.trim())
    else if (line.trim() !== '') tags.push({ name: line.trim(), line: index + 1, text: '' })
  }
  return { prose, tags }
}

function paragraphs(prose: readonly string[]): string {
  return prose
    .join('\n')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim().replaceAll('\n', ' '))
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
}

function readAnswers(tags: readonly Tag[], refuse: Refuse): Map<string, DeclaredAnswer> {
  const answers = new Map<string, DeclaredAnswer>()
  for (const { line, text } of tags.filter(({ name }) => name === 'returns')) {
    const word = text.split(/\s/, 1)[0] ?? ''
    if (!WORD.test(word)) refuse(line, `@returns begins with a status word in lower case, not "${word}"`)
    else if (answers.has(word)) refuse(line, `@returns ${word} is declared twice`)
    else
      answers.set(word, { line, fields: attempt(line, () => answerFields(text.slice(word.length)), refuse) })
  }
  return answers
}

function readCost(tags: readonly Tag[], refuse: Refuse): string {
  for (const { name, line } of tags) {
    if (!['returns', 'cost', 'reads', 'repeats', 'optional'].includes(name))
      refuse(line, `the head has no tag for: ${name}`)
  }
  const cost = tags.find(({ name }) => name === 'cost')?.text ?? ''
  if (cost === '') refuse(1, 'the head has no @cost')
  return cost
}

function readRepeats(tags: readonly Tag[], refuse: Refuse): string | null {
  const tag = tags.find(({ name }) => name === 'repeats')
  if (!tag) return null
  if (tag.text === '') refuse(tag.line, '@repeats says why the script may run twice')
  if (tags.some(({ name }) => name === 'reads'))
    refuse(tag.line, 'a script with @reads may always run twice: leave @repeats out')
  return tag.text
}

function readOptional(tags: readonly Tag[], refuse: Refuse): OptionalCommand[] {
  return tags.flatMap(({ name, line, text }) => {
    if (name !== 'optional') return []
    const found = optionalCommands(`-- @optional ${text}`)
    if (found.length === 0) refuse(line, '@optional names a command in capitals and the reason')
    return found
  })
}

function attempt<Value>(line: number, read: () => Value, refuse: Refuse): Value | null {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    refuse(line, error.message)
    return null
  }
}

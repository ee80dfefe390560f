import type { Comment } from 'luaparse'
import type { AnswerField, OptionalCommand } from './contract.ts'
import { answerFields } from './fields.ts'
import { linesOf } from './lines.ts'
import { orNearest } from './nearest.ts'

/** Called with a line of the built script and what is wrong there. */
export type Refuse = (line: number, message: string) => void

export interface DeclaredAnswer {
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

const TAGS = ['@returns', '@cost', '@reads', '@repeats', '@optional']
const OTHER_TAG = `use ${TAGS.join(', ')}; arguments are declared behind the head`
const WORD = /^[a-z][a-z0-9_-]*$/

const NO_HEAD =
  'the file does not begin with a head: write --[[ in line 1, then what the operation does, and ]]'
const NOT_FIRST = 'the head is not the first in the file: move --[[ to line 1'
const NO_END = 'the head has no end: write ]] in the line behind its last tag'

/** Reads the head of an operation; null when the file does not begin with one. */
export function readHead(source: string, refuse: Refuse): Head | null {
  const lines = linesOf(source)
  const end = lines.findIndex((line) => line.trimEnd().endsWith(']]'))
  if (!lines[0]?.startsWith('--[[') || end < 0) {
    refuse(
      1,
      lines[0]?.startsWith('--[[')
        ? NO_END
        : lines.some((line) => line.startsWith('--[['))
          ? NOT_FIRST
          : NO_HEAD,
    )
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
export function optionalCommands(comments: readonly Pick<Comment, 'value'>[]): OptionalCommand[] {
  return comments.flatMap(({ value }) => {
    const [, command, reason] = /^ @optional\s+([A-Z]+)\s+(.+)$/.exec(value) ?? []
    return command === undefined || reason === undefined ? [] : [{ command, reason: reason.trim() }]
  })
}

function assemble(lines: readonly string[], after: number, refuse: Refuse): Head {
  const { prose, tags } = split(lines)
  const about = paragraphs(prose)
  if (about === '')
    refuse(1, 'the head does not say what the operation does: write a sentence above its tags')
  const answers = readAnswers(tags, refuse)
  if (answers.size === 0)
    refuse(1, 'the head declares no answer: write @returns word  name:type, one line for each answer')
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
    else if (line.trim() !== '') tags.push({ name: '', line: index + 1, text: line.trim() })
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
    if (word === '') refuse(line, '@returns has no status word: write @returns word  name:type')
    else if (!WORD.test(word)) refuse(line, `@returns ${word}: a status word is in lower case`)
    else if (answers.has(word)) refuse(line, `the head declares @returns ${word} twice: remove one`)
    else
      answers.set(word, { line, fields: attempt(line, () => answerFields(text.slice(word.length)), refuse) })
  }
  return answers
}

function readCost(tags: readonly Tag[], refuse: Refuse): string {
  for (const { name, line } of tags) {
    if (name === '')
      refuse(
        line,
        'the head has text behind its tags: move it above them, or indent it to continue the tag above',
      )
    else if (!TAGS.includes(`@${name}`))
      refuse(line, `there is no tag @${name}: ${orNearest(`@${name}`, TAGS, OTHER_TAG)}`)
  }
  const [cost, more] = tags.filter(({ name }) => name === 'cost')
  if (!cost?.text)
    refuse(cost?.line ?? 1, 'the head does not say what bounds the work: write @cost O(1), or what it is')
  if (more)
    refuse(more.line, 'the head has two @cost: write one, and continue it in lines that begin with blanks')
  return cost?.text ?? ''
}

function readRepeats(tags: readonly Tag[], refuse: Refuse): string | null {
  const tag = tags.find(({ name }) => name === 'repeats')
  if (!tag) return null
  if (tag.text === '') refuse(tag.line, '@repeats has no reason: write why the script may run twice')
  if (tags.some(({ name }) => name === 'reads'))
    refuse(tag.line, 'a script with @reads may always run twice: remove @repeats')
  return tag.text
}

function readOptional(tags: readonly Tag[], refuse: Refuse): OptionalCommand[] {
  return tags.flatMap(({ name, line, text }) => {
    if (name !== 'optional') return []
    const found = optionalCommands([{ value: ` @optional ${text}` }])
    if (found.length === 0) refuse(line, '@optional is not complete: write @optional COMMAND and the reason')
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

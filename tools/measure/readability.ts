// How hard the prose of a page is to read: length of its sentences, Flesch's reading ease, and how many sentences name no agent.

import { flesch } from 'flesch'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { toString as textOfNode } from 'mdast-util-to-string'
import { gfm } from 'micromark-extension-gfm'
import { retext } from 'retext'
import retextPassive from 'retext-passive'
import { syllable } from 'syllable'

export interface Sentence {
  readonly text: string
  readonly words: number
  readonly syllables: number
  /** In the passive without "by", or opened by "it is", "there are", "what". */
  readonly agentless: boolean
}

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>['children'][number]

/** A shorter text is a label or a cell of a table, not a sentence. */
const SHORTEST = 4
const OPENINGS = /^(?:it|there) (?:is|are|was|were|has been|will be)\b|^what\b/i
/** retext-passive knows irregular verbs only. */
const REGULAR_PASSIVE = /\b(?:am|are|were|being|is|been|was|be)\s+(?:\w+ly\s+|not\s+)?\w+ed\b/i
const split = new Intl.Segmenter('en', { granularity: 'word' })
const passives = retext().use(retextPassive)

/** The sentences of a page in Markdown. Code and tables stay out; code inside a sentence is one word. */
export function sentencesOf(page: string): Sentence[] {
  const tree = fromMarkdown(page, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
  return proseOf(tree)
    .flatMap((text) => text.split(/(?<=[.!?:;])\s+(?=[A-Z`"([])/).map(sentenceOf))
    .filter(({ words }) => words >= SHORTEST)
}

/** Flesch's reading ease of all sentences together: 60 is plain English, 30 needs a degree. */
export function readingEase(sentences: readonly Sentence[]): number {
  const total = (of: (each: Sentence) => number) => sentences.reduce((all, each) => all + of(each), 0)
  return flesch({
    sentence: sentences.length,
    word: total(({ words }) => words),
    syllable: total(({ syllables }) => syllables),
  })
}

function proseOf(node: Node): string[] {
  if (node.type === 'paragraph') return [textOfNode(withPlainCode(node)).replace(/\s+/g, ' ').trim()]
  if (node.type === 'table' || node.type === 'heading' || !('children' in node)) return []
  return node.children.flatMap((child) => proseOf(child as Node))
}

function withPlainCode<T>(node: T): T {
  const { type, children } = Object(node)
  if (type === 'inlineCode') return { ...node, value: 'code' }
  return Array.isArray(children) ? { ...node, children: children.map(withPlainCode) } : node
}

function sentenceOf(text: string): Sentence {
  const words = [...split.segment(text)].filter(({ isWordLike }) => isWordLike)
  const isPassive = REGULAR_PASSIVE.test(text) || passives.processSync(text).messages.length > 0
  return {
    text,
    words: words.length,
    syllables: words.reduce((sum, { segment }) => sum + Math.max(1, syllable(segment)), 0),
    agentless: (isPassive && !/\bby\b/.test(text)) || OPENINGS.test(text),
  }
}

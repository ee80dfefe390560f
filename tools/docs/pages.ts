// What the checks of the docs need to know of Markdown.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Block {
  /** The words after the fence: `ts run`. */
  readonly info: string
  /** The first line inside the fence, counted from 1. */
  readonly line: number
  readonly text: string
}

export interface Link {
  readonly line: number
  readonly target: string
}

const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.perilune', '.scratch', 'coverage', 'fixtures'])

/** Every Markdown page of the project, as paths from its root. */
export function pagesIn(root: string, folder = ''): string[] {
  if (!existsSync(join(root, folder))) return []
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : pagesIn(root, path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

export function textOf(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The fenced blocks of a page. */
export function blocksOf(page: string): Block[] {
  const fenced = page.matchAll(/^( *)```([^\n`]*)\n([^]*?)^\1```/gm)
  return [...fenced].map(({ index, 2: info = '', 3: text = '' }) => ({
    info: info.trim(),
    line: lineAt(page, index) + 1,
    text,
  }))
}

/** Links outside of code. */
export function linksOf(page: string): Link[] {
  const prose = withoutCode(page)
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(({ index, 1: target = '' }) => ({
    line: lineAt(prose, index),
    target,
  }))
}

/** The headings of a page as written, with their rank. */
export function headingsOf(page: string): { rank: number; text: string }[] {
  const prose = withoutBlocks(page)
  return [...prose.matchAll(/^(#{1,6}) +(.+?) *$/gm)].map(({ 1: marks = '', 2: text = '' }) => ({
    rank: marks.length,
    text,
  }))
}

/** The anchors that a page's headings give. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const { text } of headingsOf(page)) {
    const base = slugOf(text)
    let anchor = base
    for (let again = 1; anchors.has(anchor); again++) anchor = `${base}-${again}`
    anchors.add(anchor)
  }
  return anchors
}

function slugOf(heading: string): string {
  return heading
    .replace(/\]\([^()]*\)/g, ']')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

function withoutBlocks(page: string): string {
  return page.replace(/^( *)```[^]*?^\1```/gm, blank)
}

function withoutCode(page: string): string {
  return withoutBlocks(page).replace(/`[^`\n]*`/g, blank)
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

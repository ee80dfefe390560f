// A promise quotes the titles of the tests that hold it: `[vectors](…/feed.json): "a title", "another"`.
// Each must stand in the file that is linked before it.

import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { pagesIn, textOf } from './pages.ts'

interface Proof {
  readonly file: string
  readonly title: string
  readonly line: number
}

/** Quoted tests that do not exist, as `page:line problem`. */
export function checkProofs(root: string): string[] {
  return pagesIn(root, 'docs/structures').flatMap((page) =>
    proofsOf(page, textOf(root, page))
      .filter((proof) => !isThere(root, proof))
      .map(({ file, title, line }) => `${page}:${line} ${file} has no test "${title}"`),
  )
}

function proofsOf(page: string, text: string): Proof[] {
  const quotes = text.matchAll(/\]\(([^()\s]+\.(?:test\.ts|json))\):((?:,?\s+"[^"]+")+)/g)
  return [...quotes].flatMap(({ index, 1: target = '', 2: titles = '' }) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({
      file: normalize(join(dirname(page), target)),
      title: title.replace(/\s+/g, ' '),
      line: text.slice(0, index).split('\n').length,
    })),
  )
}

function isThere(root: string, { file, title }: Proof): boolean {
  return existsSync(join(root, file)) && textOf(root, file).includes(title)
}

// Relative links lead to files of the project, and their anchors to headings; every page is linked from another.

import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { anchorsOf, type Link, linksOf, pagesIn, textOf } from './pages.ts'

// What people find without a link.
const FRONT = new Set(['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'])

/** What is wrong with links, as `page:line problem`. */
export function checkLinks(root: string): string[] {
  const pages = pagesIn(root)
  const problems = pages.flatMap((page) =>
    linksOf(textOf(root, page)).flatMap((link) => {
      const problem = problemOf(root, page, link)
      return problem === null ? [] : [`${page}:${link.line} ${problem}`]
    }),
  )
  return [...problems, ...unlinked(root, pages).map((page) => `${page} is linked from no other page`)]
}

/** A link to a folder leads to all of its pages. */
function unlinked(root: string, pages: readonly string[]): string[] {
  const linked = new Set(
    pages.flatMap((page) =>
      linksOf(textOf(root, page)).map(({ target }) =>
        normalize(join(dirname(page), target.split('#')[0] ?? '')),
      ),
    ),
  )
  return pages.filter((page) => !FRONT.has(page) && !linked.has(page) && !linked.has(dirname(page)))
}

function problemOf(root: string, page: string, { target }: Link): string | null {
  if (/^[a-z]+:/.test(target)) return null
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (file.startsWith('..')) return `the link ${target} leads out of the project`
  if (!existsSync(join(root, file))) return `the link ${target} leads nowhere`
  if (anchor === undefined || !file.endsWith('.md')) return null
  return anchorsOf(textOf(root, file)).has(anchor) ? null : `${file} has no heading for #${anchor}`
}

// Relative links lead to files of the project, and their anchors to headings.

import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { anchorsOf, type Link, linksOf, pagesIn, textOf } from './pages.ts'

/** What is wrong with links, as `page:line problem`. */
export function checkLinks(root: string): string[] {
  return pagesIn(root).flatMap((page) =>
    linksOf(textOf(root, page)).flatMap((link) => {
      const problem = problemOf(root, page, link)
      return problem === null ? [] : [`${page}:${link.line} ${problem}`]
    }),
  )
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

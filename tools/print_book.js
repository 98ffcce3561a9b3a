async ({numbered, mark, places}) => {
    // Formulas set, answers and solutions at the end, all else open, what is folded left out, stills
    // for live figures; room for the number of the page to which a link leads, and links to the
    // places that other pages link to, since only these get an address in the file
    document.documentElement.dataset.theme = 'light';
    if (window.MathJax?.startup) {
        await MathJax.startup.promise;
        await MathJax.startup.document.lazyTypesetAll();
    }
    const article = document.querySelector('article.bd-article');
    const answers = [...article.querySelectorAll('div.solution, .admonition .dropdown.admonition')]
        .filter((e) => !e.parentElement.closest('div.solution'));
    const end = document.createElement('section');
    end.className = 'answers';
    for (const answer of answers) {
        const question = answer.parentElement.closest('.admonition');
        const title = answer.querySelector('.admonition-title');
        if (question && !answer.matches('.solution')) {
            title.textContent = question.querySelector('.admonition-title').textContent;
        }
        end.append(answer);
    }
    if (answers.length) {
        const heading = document.createElement('h2');
        heading.textContent = 'Answers and solutions';
        end.prepend(heading);
        article.append(end);
    }
    article.querySelectorAll('.decon-live noscript')
        .forEach((e) => { e.outerHTML = e.textContent; });
    article.querySelectorAll('.cell.tag_hide-input details').forEach((e) => e.remove());
    article.querySelectorAll('.toggle-hidden').forEach((e) => e.classList.remove('toggle-hidden'));
    article.querySelectorAll('.toggle-button').forEach((e) => e.remove());
    article.querySelectorAll('details').forEach((e) => { e.open = true; });
    for (const link of article.querySelectorAll('a.reference.internal')) {
        const [address, place] = link.href.split('#');
        const quiet = link.closest('table, h1, h2, h3, h4, .admonition-title');
        if (numbered.includes(address) && !quiet) {
            const room = document.createElement('a');
            room.className = 'page-number';
            room.href = address + mark + (place ? '#' + place : '');
            link.after('\u00a0', room);
        }
    }
    for (const id of places.filter((id) => document.getElementById(id))) {
        const link = document.createElement('a');
        link.className = 'place';
        link.href = '#' + id;
        link.textContent = id;
        article.append(link);
    }
    for (const image of article.querySelectorAll('img')) {
        image.loading = 'eager';
        await image.decode().catch(() => {});
    }
}

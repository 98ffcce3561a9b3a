// In the book: put each figure into its place as soon as it comes near the screen.
const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    const data = JSON.parse(target.dataset.data);
    figures[target.dataset.figure].render({ el: target, model: { get: () => data } });
  }
}, { rootMargin: "600px" });
for (const place of document.querySelectorAll(".decon-live")) watcher.observe(place);

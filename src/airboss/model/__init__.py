"""The words everybody uses: ids, events, views and how events fold into views."""
